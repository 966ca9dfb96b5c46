"""Chats as a model gets them: a template is rendered with messages, and each token has an origin."""
