"""Games that ship with Fritillary, written against its public interface only."""
