"""SugarCrepe-style pairs of one's own photographs: what is learned, and how captions change."""
