// Command oldetcd is etcd itself, of the release that the module file names: the
// tests of package snapshot read what it writes. go.mod has etcd 3.6, v35.mod 3.5.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
