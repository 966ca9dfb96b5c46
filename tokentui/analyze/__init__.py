"""What a tokenizer does with a corpus and with a word, in figures and in words: usage, savings, ways, reach, health."""
