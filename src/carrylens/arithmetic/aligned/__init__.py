"""Aligned models: trained ones whose circuit is known because they were trained to have it."""
