"""Messages and services of fritillary.api.v1."""
