package report

func (b *builder) method() []phrase {
	return []phrase{
		text("This draft was generated from the inputs that it lists and from nothing else. Sentences about the past carry references to the lines and stored revisions that show them; the files can be checked against their SHA-256."),
		text("etcd stores no times. The time of a revision is an estimate from stamps inside the stored objects and from log lines that name revisions or objects; where an interval is given, it holds the true time if the clocks it came from were right. Times of log lines are those of the host that wrote them. Durations between two sources carry the error of both."),
		join(strong("Confidence."), text("Proven: the evidence names the mechanism and no rival is near. Likely: the pattern fits and rivals are excluded. Possible: it fits and rivals remain. Where none of these holds, the cause is left undecided, with what would settle it.")),
		join(strong("Stages."), text("A stage is where the chain of objects stood, which need not be where the cause sits. Usual times are common values for one pod, not limits of this cluster. Stages 1 and 2 leave no write in etcd.")),
		join(strong("Fates of writes."), text("Landed: the store shows the write, whatever the client was told. Rejected: it was refused and the store does not show it. Not proposed: no member proposed it to the log. Lost: it was proposed and the store shows that it did not take effect. Unknown: the inputs do not tell.")),
		text("Effects on users cannot be derived from these inputs, nor can what people knew or decided at the time."),
	}
}
