"""Everyday words for what the finder lists: the words of newcomers that no label or sentence has.

A key is the id of an entry of the finder: `action:ID`, with the id of a binding; `tour:NAME`, `preset:NAME`,
`axis:AXIS=VALUE`, `setting:NAME=VALUE`, `sample:NAME`. A test checks that each entry exists.
"""

from __future__ import annotations

from collections.abc import Mapping

SYNONYMS: Mapping[str, str] = {
    # How words, tokens and steps are looked at.
    "action:questions": "unused never used usage rare frequency zipf wasted worst fragmentation useless "
        "dead saved ways entropy shannon renyi efficiency measures",
    "action:pieces": "piece pieces split regex pattern pretokenize pre-token pretoken words branch "
        "whitespace punctuation digits",
    "action:why_all": "tie ties reason explain because runner-up rule likelihood",
    "action:life": "word words history changes story trace",
    "action:predict": "quiz game teach learn",
    "action:dropout": "regularization subword random sampling noise bpe-dropout",
    "action:what_if": "forbid force skip counterfactual experiment",
    "action:steps": "merges log rank event table list history",
    "action:follow": "where place locate occurrence",
    "action:next": "merge train forward more",
    "action:back": "undo previous reverse",
    "action:play": "start stop pause animate watch training train",
    "action:until": "limit target",
    "action:go_to": "jump seek position half percent number",
    "action:type": "encode sentence prompt paste input count tokenize text",
    "action:playground": "play prompt paste tiktokenizer ids count tokens openai multiline "
        "decode",
    # Files.
    "action:open": "file load corpus document documents novel folder import tokenizer replay dataset",
    "action:edit": "scratch write own text",
    "action:export": "save download write json huggingface sentencepiece tiktoken gguf file "
        "lose loses lost lossy loss",
    "action:copy": "clipboard row ids",
    "action:export_table": "csv tsv markdown spreadsheet rows",
    "action:export_picture": "screenshot svg png image slides share",
    "action:copy_command": "reproduce shell script cli",
    "action:record": "macro teacher",
    "action:edit_vocabulary": "prune trim shrink extend add special pad",
    # Facts.
    "action:facts": "health check statistics summary histogram lengths about info warnings special",
    "action:analyze_budget": "32k 16k 64k sizes size knee curve vocabulary-size how many",
    "action:analyze_charts": "zipf frequency histogram plot graph distribution rank coverage",
    "action:agreement_map": "heatmap matrix similar similarity agree pairwise",
    "action:analyze_worst_words": "worst wasted inefficient fragmented",
    "action:analyze_glitch": "unreachable SolidGoldMagikarp undertrained broken bug weird",
    "action:analyze_chkhsh": "llama.cpp hash gguf pre-tokenizer",
    "action:languages": "price cost money multilingual fair premium translation",
    "action:chat_of_text": "template messages system user assistant chatml jinja model sees",
    # What is seen.
    "action:boundaries": "chips color colour bars shades background marks highlight tiktokenizer",
    "action:ages": "heat recency newest",
    "action:glyphs": "hex bytes unicode code-points escapes invisible characters raw",
    "action:theme": "light dark colors colours contrast appearance",
    "action:settings": "preferences options configure config",
    "action:first_screen": "welcome home introduction begin intro",
    "action:help": "keys shortcuts manual documentation engine kernel version machine",
    "action:filter": "only narrow grep",
    "action:find": "search lookup",
    "action:order": "sort",
    "action:jump_back": "return earlier",
    "action:quit": "exit leave close",
    "action:pane_2": "candidate candidates pairs pair neighboring",
    "action:pane_3": "vocabulary tokens symbol symbols ids id",
    # A command of the shell.
    "command:quiz": "exercise exercises sheet worksheet quiz answers",
    "action:same_file": "identical equal diff files",
    # Comparing and algorithms.
    "action:compare": "alignment side-by-side divergence diverge difference diff plot curve chart graph "
        "measures fertility column held-out versus agreement renyi same identical equal "
        "efficiency",
    "action:algorithm": "recipe axis axes preset coverage change model parameters configuration published",
    "preset:bert": "cased uncased",
    "preset:gpt2": "bpe byte-level byte-pair",
    "preset:sentencepiece-unigram": "unigram probability viterbi lattice segmentations pruning "
        "prune-pieces tree",
    "preset:gage": "compression compress zip",
    "tour:ties": "tutorial lesson course",
}
"""Words by the id of the entry that they name."""
