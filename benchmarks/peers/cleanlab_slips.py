"""Which labels cleanlab would have looked at again, surest first: `cleanlab_slips.py FOLDER`, in .venv-peers.

Every FOLDER/*.npz has `chances`, what a head says of images whose labels it never saw, and `given`, their labels; the
places that are named go into a .json beside it.
"""

import json
import sys
from pathlib import Path

import numpy as np
from cleanlab.filter import find_label_issues

for path in sorted(Path(sys.argv[1]).glob("*.npz")):
    with np.load(path) as case:
        named = find_label_issues(
            case["given"], case["chances"], return_indices_ranked_by="normalized_margin", n_jobs=1
        )
    path.with_suffix(".json").write_text(json.dumps([int(place) for place in named]))
