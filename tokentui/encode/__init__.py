"""Text to ids and back, by merges or by longest match, and how it came about."""

from tokentui.encode.decoding import NO_ID, Decoder, decode, decode_bytes
from tokentui.encode.encoding import ENCODERS, Encoding, WordEncoder, encode
from tokentui.encode.explaining import WordExplanation, explain
from tokentui.encode.ids import IdEncoder
from tokentui.encode.losing import RoundTrip, lost, round_trip
from tokentui.encode.parts import Attempt, MergeStep, Step
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
