package main

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"etcd-autopsy/correlate"
	"etcd-autopsy/internal/source"
	"etcd-autopsy/snapshot"
)

// evidenceFlags are the flags of every command that reads evidence: what to look
// at, how to read it, what to say meanwhile.
type evidenceFlags struct {
	namespace     string
	allNamespaces bool
	workload      string
	since, until  string
	around        string
	timezone      string
	logTimezone   string
	logYear       string
	as            cli.StringSlice
	encryption    string
	tempDir       string
	limits        source.Limits
	quiet         bool
	progress      string
	strict        bool
}

func (f *evidenceFlags) flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "namespace", Aliases: []string{"n"}, Destination: &f.namespace, Usage: "only objects of `NAMESPACE`"},
		&cli.BoolFlag{Name: "all-namespaces", Aliases: []string{"A"}, Destination: &f.allNamespaces, Usage: "objects of all namespaces (the default)"},
		&cli.StringFlag{Name: "workload", Destination: &f.workload, Usage: "only the workload `KIND/NAME`, as in deployment/web"},
		&cli.StringFlag{Name: "since", Destination: &f.since, Usage: "list nothing before `TIME`: RFC 3339, '2006-01-02 15:04:05', or 15:04[:05] for the day on which the evidence ends"},
		&cli.StringFlag{Name: "until", Destination: &f.until, Usage: "list nothing after `TIME`"},
		&cli.StringFlag{Name: "around", Destination: &f.around, Usage: "`TIME[±DURATION]` list what is near TIME; +- will do for ±, and ±5m is the default"},
		&cli.StringFlag{Name: "timezone", Destination: &f.timezone, Value: "UTC", Usage: "show times, and read those of flags, in `ZONE`: UTC (the default), Local, Europe/Berlin, +08:00"},
		&cli.StringFlag{Name: "log-timezone", Destination: &f.logTimezone, Usage: "`ZONE` time zone of log stamps that name none; by default that of what carried the line, else UTC"},
		&cli.StringFlag{Name: "log-year", Destination: &f.logYear, Usage: "`YEAR` year of log stamps that have none; inferred by default"},
		&cli.StringSliceFlag{Name: "as", Destination: &f.as, Usage: "`PATTERN=KIND` take files whose path or name matches PATTERN for KIND: " + strings.Join(asKinds, ", ") + "; may be repeated"},
		&cli.StringFlag{Name: "encryption-config", Destination: &f.encryption, Usage: "decrypt stored values with the keys of `FILE`, an EncryptionConfiguration; one among the inputs is found by itself"},
		&cli.StringFlag{Name: "tmpdir", Destination: &f.tempDir, Usage: "unpack archives into a private folder in `DIR`, removed afterwards; the system's folder for temporary files by default"},
		&cli.Int64Flag{Name: "max-bytes", Destination: &f.limits.Bytes, Value: source.DefaultLimits.Bytes, Usage: "unpack at most `N` bytes out of all archives"},
		&cli.Int64Flag{Name: "max-file", Destination: &f.limits.File, Value: source.DefaultLimits.File, Usage: "unpack at most `N` bytes of one entry"},
		&cli.IntFlag{Name: "max-entries", Destination: &f.limits.Entries, Value: source.DefaultLimits.Entries, Usage: "take at most `N` entries of one archive"},
		&cli.IntFlag{Name: "max-depth", Destination: &f.limits.Depth, Value: source.DefaultLimits.Depth, Usage: "unpack archives in archives, at most `N` deep"},
		&cli.Int64Flag{Name: "max-ratio", Destination: &f.limits.Ratio, Value: source.DefaultLimits.Ratio, Usage: "stop at an archive that unpacks to over a gigabyte and to `N` times its size"},
		&cli.BoolFlag{Name: "quiet", Destination: &f.quiet, Usage: "print nothing but errors on stderr"},
		&cli.StringFlag{Name: "progress", Destination: &f.progress, Value: "auto", Usage: "`auto|plain|json|none` how to show progress on stderr; auto draws on a terminal and is the default"},
		&cli.BoolFlag{Name: "strict", Destination: &f.strict, Usage: "exit with 4 if some of the evidence was skipped"},
	}
}

// asKinds are the kinds that --as can give.
var asKinds = []string{"snapshot", "log", "audit", "objects", "wal", "ignore"}

// query is what valid evidenceFlags ask for.
type query struct {
	inputs []string
	opts   correlate.Options
	window window
	// location is where times are shown.
	location *time.Location
	progress string
	quiet    bool
	strict   bool
	tempDir  string
	limits   source.Limits
	// output is the format of a list.
	output string
	// muteSkipped leaves what was skipped out of stderr.
	muteSkipped bool
}

// query checks the flags and operands of a command.
func (f *evidenceFlags) query(c *cli.Context) (*query, error) {
	q := &query{inputs: c.Args().Slice(), quiet: f.quiet, strict: f.strict, progress: f.progress, tempDir: f.tempDir, limits: f.limits}
	if len(q.inputs) == 0 {
		return nil, usagef(fmt.Sprintf("name files or folders: %s %s evidence/", program, c.Command.Name), "no input given")
	}
	q.opts = correlate.Options{Version: programVersion(), Namespace: f.namespace}
	checks := []func(*query) error{f.checkNamespace, f.checkWorkload, f.checkZones, f.checkYear, f.checkAs, f.checkLimits, f.checkEncryption, f.checkProgress, f.checkWindow}
	for _, check := range checks {
		if err := check(q); err != nil {
			return nil, err
		}
	}
	return q, nil
}

func (f *evidenceFlags) checkNamespace(*query) error {
	if f.allNamespaces && f.namespace != "" {
		return usagef("leave one of them out", "--namespace %s and --all-namespaces contradict each other", f.namespace)
	}
	return nil
}

// workloadKinds maps what kubectl calls a workload's kind to the kind.
var workloadKinds = map[string]string{
	"deployment": "Deployment", "deployments": "Deployment", "deploy": "Deployment",
	"statefulset": "StatefulSet", "statefulsets": "StatefulSet", "sts": "StatefulSet",
	"daemonset": "DaemonSet", "daemonsets": "DaemonSet", "ds": "DaemonSet",
}

func (f *evidenceFlags) checkWorkload(q *query) error {
	if f.workload == "" {
		return nil
	}
	kind, name, ok := strings.Cut(f.workload, "/")
	if !ok || name == "" || strings.Contains(name, "/") {
		return usagef("write KIND/NAME, as in deployment/web, and the namespace with -n", "--workload %q names no workload", f.workload)
	}
	kind, ok = workloadKinds[strings.ToLower(kind)]
	if !ok {
		return usagef("kinds are deployment, statefulset and daemonset", "--workload %q: unknown kind", f.workload)
	}
	q.opts.Workload = kind + "/" + name
	return nil
}

func (f *evidenceFlags) checkZones(q *query) (err error) {
	if q.location, err = parseZone("--timezone", f.timezone); err != nil {
		return err
	}
	if f.logTimezone != "" {
		q.opts.LogLocation, err = parseZone("--log-timezone", f.logTimezone)
	}
	return err
}

func (f *evidenceFlags) checkYear(q *query) error {
	if f.logYear == "" {
		return nil
	}
	year, err := strconv.Atoi(f.logYear)
	if err != nil || year < 1970 || year > 9999 {
		return usagef("write four digits, as in 2026", "--log-year %q is no year", f.logYear)
	}
	q.opts.LogYear = year
	return nil
}

// checkEncryption reads the keys that the values at rest were encrypted with.
func (f *evidenceFlags) checkEncryption(q *query) error {
	if f.encryption == "" {
		return nil
	}
	b, err := os.ReadFile(f.encryption)
	if err != nil {
		return usagef("", "--encryption-config %s: %v", f.encryption, bare(err))
	}
	if q.opts.Keys, err = snapshot.ParseEncryptionConfig(b); err != nil {
		return usagef("", "--encryption-config %s: %v", f.encryption, err)
	}
	return nil
}

func (f *evidenceFlags) checkAs(q *query) error {
	for _, rule := range f.as.Value() {
		i := strings.LastIndex(rule, "=")
		if i < 1 {
			return usagef("write PATTERN=KIND, as in '*.txt=log'", "--as %q is no rule", rule)
		}
		pattern, kind := rule[:i], rule[i+1:]
		if _, err := path.Match(pattern, ""); err != nil {
			return usagef("", "--as %q: %v", rule, err)
		}
		if !slices.Contains(asKinds, kind) {
			return usagef("kinds are "+strings.Join(asKinds, ", "), "--as %q: unknown kind %q", rule, kind)
		}
		q.opts.As = append(q.opts.As, correlate.AsRule{Pattern: pattern, Kind: kind})
	}
	return nil
}

func (f *evidenceFlags) checkLimits(*query) error {
	l := f.limits
	if l.Bytes <= 0 || l.File <= 0 || l.Entries <= 0 || l.Depth <= 0 || l.Ratio <= 0 {
		return usagef("", "the limits of archives (--max-bytes, --max-file, --max-entries, --max-depth, --max-ratio) are at least 1")
	}
	return nil
}

func (f *evidenceFlags) checkProgress(*query) error {
	if _, ok := progressModes[f.progress]; !ok {
		return usagef("modes are auto, plain, json and none", "--progress %q: unknown mode", f.progress)
	}
	return nil
}

func (f *evidenceFlags) checkWindow(q *query) (err error) {
	q.window, err = parseWindow(f.since, f.until, f.around, q.location)
	return err
}
