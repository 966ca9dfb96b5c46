"""Whether another library does what is done here: a training step by step, or a file text by text.

The libraries are never imported here: each runs in a process of its own, with limits, since it sees files that nobody has checked
and may end in ways that no caller can catch.
"""

from __future__ import annotations

from tokentui.analyze.verify.encoding import Encoded, EncodingReport, TextParting, verify_encoding
from tokentui.analyze.verify.peers import PEERS, Peer, peer_of
from tokentui.analyze.verify.training import Parting, Taken, TrainingReport, verify_training

__all__ = [
    "PEERS", "Encoded", "EncodingReport", "Parting", "Peer", "Taken", "TextParting", "TrainingReport", "peer_of",
    "verify_encoding", "verify_training",
]
