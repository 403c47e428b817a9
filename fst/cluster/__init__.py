"""Count words and encode files with the tasks of a cluster: Ray, Spark, Daft, datatrove, or any other runner of tasks.

`tasks` divides the work. `ray`, `spark` and `daft` run tasks; each has one function, with the arguments and the result of the built-in
`map`. `datatrove` has steps for its pipelines.
"""
