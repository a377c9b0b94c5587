"""vLLM launcher, OpenAI-compatible client, prompts, proposers, fake server."""
