// Package template groups messages that no signature knows, so that a message
// which nobody has catalogued shows up too. What varies in a message is masked;
// messages that are equal then are of one form. Forms that differ in one word, in
// which many of them differ, become one template. Neither depends on the order of
// the messages, nor on how they are spread over logs: miners of several logs are
// merged, and the result is that of one miner which read them all.
package template
