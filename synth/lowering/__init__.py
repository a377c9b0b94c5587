"""Default lowerings: per target, an ordinary trace chosen by asking the passes what they propose and check."""
