"""What commands write and print: the folder of a run, its statistics, and the console."""
