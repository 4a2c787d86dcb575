"""How thoroughly Hypothesis looks: quickly, or as the environment says."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# No deadlines: a busy machine is no bug.
settings.register_profile("quick", deadline=None, max_examples=60)
settings.register_profile(
    "thorough",
    deadline=None,
    max_examples=1000,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("FRITILLARY_HYPOTHESIS", "quick"))
