"""What tests share: cards, experiments, made-up runs, answers, and commands in this process."""
