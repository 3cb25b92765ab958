"""Checks that docs/limits.md names every requirement whose violation a kernel may refuse or accept, as `list
--coverage` counts them.

python3 limits_test.py ASSAY PAGE
"""

import json
import pathlib
import subprocess
import sys

assay, page = sys.argv[1], pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")
counted = set()
for entry in json.loads(subprocess.check_output([assay, "list", "operators", "--json"])):
    printed = json.loads(subprocess.check_output([assay, "list", entry["operator"], "--coverage", "--json"]))
    for coverage in printed.values():
        counted |= {reason["id"] for reason in coverage["refusable_calls"]["reasons"]}
missing = sorted(id for id in counted if f"`{id}`" not in page)
print(f"{len(counted)} requirements leave it open whether a kernel refuses a call; missing on the page: {', '.join(missing) or 'none'}")
sys.exit(1 if missing or len(counted) < 10 else 0)
