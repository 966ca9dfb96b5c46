"""Grading: compare what a student hands in with an exercise, and name the mistake.

`exercise.py` reads exercises, `submission.py` submissions, `run.py` and `child.py` run a Python file.
`model.py` is a training in plain Python that can be wrong on purpose, `faults.py` lists the mistakes, and
`diagnose.py` finds those that give the student's merges. `encoders.py` has the mistakes of encoding.
`grade.py` puts it together as a report.
"""
