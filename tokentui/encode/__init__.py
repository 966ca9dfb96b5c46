"""Text to ids and back, by merges or by longest match, and how it came about."""

from tokentui.encode.decode import NO_ID, Decoder, decode, decode_bytes
from tokentui.encode.explain import WordExplanation, explain
from tokentui.encode.ids import IdEncoder
from tokentui.encode.losses import RoundTrip, lost, round_trip
from tokentui.encode.offsets import ENCODERS, Encoding, WordEncoder, encode
from tokentui.encode.segment.parts import Attempt, MergeStep, Step
from tokentui.encode.typed import Typed

__all__ = [
    "ENCODERS",
    "NO_ID",
    "Attempt",
    "Decoder",
    "Encoding",
    "IdEncoder",
    "MergeStep",
    "RoundTrip",
    "Step",
    "Typed",
    "WordEncoder",
    "WordExplanation",
    "decode",
    "decode_bytes",
    "encode",
    "explain",
    "lost",
    "round_trip",
]
