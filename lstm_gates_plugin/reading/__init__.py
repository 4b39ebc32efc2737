"""Reading: what a run has logged, validated, ordered and deduplicated, from any source."""
