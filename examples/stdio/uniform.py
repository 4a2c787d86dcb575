"""Plays any game by chance.

fritillary match lepidoptery -s "stdio:python uniform.py" -s uniform
"""

import json
import random
import sys

for line in sys.stdin:
    told = json.loads(line)
    if told["type"] == "ask":
        # From the seed alone, so that the same match gives the same play again.
        chosen = random.Random(told["seed"]).choice(told["legal"])
        print(json.dumps({"index": chosen["index"]}), flush=True)
