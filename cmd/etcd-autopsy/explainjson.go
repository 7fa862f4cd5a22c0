package main

import (
	"fmt"
	"io"

	"etcd-autopsy/correlate"
	"etcd-autopsy/logparse"
)

// explainedCause is a cause as explain -o json prints it.
type explainedCause struct {
	ID                  string `json:"id"`
	Stages              string `json:"stages"`
	RecognisedBy        string `json:"recognisedBy"`
	NotToBeConfusedWith string `json:"notToBeConfusedWith,omitempty"`
	NextStep            string `json:"nextStep,omitempty"`
}

// explainedSignature is a log signature as explain -o json prints it.
type explainedSignature struct {
	ID         string           `json:"id"`
	Component  string           `json:"component"`
	Severity   string           `json:"severity"`
	Category   string           `json:"category"`
	Versions   string           `json:"versions,omitempty"`
	Meaning    string           `json:"meaning"`
	NotMeaning string           `json:"notMeaning"`
	Causes     string           `json:"likelyCauses,omitempty"`
	NextCheck  string           `json:"nextCheck,omitempty"`
	Fields     []explainedField `json:"fields"`
}

// explainedField is a value that the records of a signature carry.
type explainedField struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// explainJSON prints what is known about a word, or the causes without one.
func explainJSON(w io.Writer, word string) error {
	var v any
	if c, ok := correlate.LookupCause(word); ok {
		v = causeJSON(c)
	} else if s, ok := logparse.LookupSignature(word); ok {
		v = signatureJSON(s)
	}
	switch word {
	case "":
		list := []explainedCause{}
		for _, c := range correlate.Causes() {
			list = append(list, causeJSON(c))
		}
		v = list
	case topicSignatures:
		list := []explainedSignature{}
		for _, s := range logparse.Signatures() {
			list = append(list, signatureJSON(s))
		}
		v = list
	case topicCollect:
		v = map[string]string{"text": collectText}
	}
	if v == nil {
		return unknownWord(word)
	}
	text, err := encode(v, "")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, text)
	return err
}

func causeJSON(c correlate.Cause) explainedCause {
	return explainedCause{c.ID, c.Stages, c.Test, c.NotToBeConfusedWith, c.NextStep}
}

func signatureJSON(s logparse.Signature) explainedSignature {
	out := explainedSignature{
		ID: s.ID, Component: s.Component, Severity: s.Severity, Category: s.Category, Versions: s.Versions,
		Meaning: s.Meaning, NotMeaning: s.NotMeaning, Causes: s.Causes, NextCheck: s.NextCheck, Fields: []explainedField{},
	}
	for _, f := range s.Fields {
		out.Fields = append(out.Fields, explainedField{f, string(logparse.ValueKindOf(f))})
	}
	return out
}
