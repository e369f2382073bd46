"""Open instructions: does a brain do what was meant, and does it say truthfully how it went?"""
