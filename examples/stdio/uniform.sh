#!/bin/sh
# Plays any game by chance; needs jq.
#
#     fritillary match lepidoptery -s "stdio:./uniform.sh" -s uniform
#
# Each line of the input is one JSON object. Where its type is "ask", the answer is the
# index of one of the legal actions: the one that the seed of this decision picks, so
# that the same match gives the same play again. All other lines need no answer.
# -c writes an answer in one line, --unbuffered writes it at once.

exec jq -c --unbuffered '
  select(.type == "ask")
  | {index: .legal[.seed % (.legal | length)].index}
'
