"""Generated code of the wire; written by proto/generate.sh, never edited."""
