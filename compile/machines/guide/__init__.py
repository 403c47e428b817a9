"""Compile patterns and schemas into token masks."""
