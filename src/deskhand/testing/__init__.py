"""For tests of whoever builds on deskhand, and our own: a desk of symbols (a fake tool client), a desk robot (a fake robot with real geometry), a desk for
motion. The scripted language model is a provider like the others (``deskhand.llm.scripted``). Nothing in deskhand imports this package.
"""
