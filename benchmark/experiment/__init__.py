"""From an experiment file to a store of results: plan, world, evaluation, pool, engine, store, export."""
