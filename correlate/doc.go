// Package correlate joins what the stores and the logs say: it puts every
// revision on a wall clock, rebuilds the rollouts of workloads with their
// stages, finds the control-plane faults, and judges why a rollout stalled. It
// owns every word of judgement (rollout, stage, stall, finding, episode,
// confidence, verdict); the result is an Analysis, whose JSON form is the public
// report format.
package correlate
