package snapshot

import (
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/authpb"
	"google.golang.org/protobuf/proto"
)

// Auth is etcd's own access control, as the buckets auth, authUsers and
// authRoles have it (etcd v3.6 server/storage/schema/auth*.go). Kubernetes does
// not use it: its API servers identify themselves by certificates alone. The
// zero value is that of a store in which it was never set up.
type Auth struct {
	// Enabled says whether clients have to authenticate.
	Enabled bool
	// Revision counts the changes of users and roles, 1 before the first; it is
	// not a revision of the store. 0 if the store does not have it.
	Revision uint64
	// Users and Roles are names, sorted. What is stored of passwords is never
	// kept.
	Users, Roles []string
}

// readAuth reads an entry of the bucket auth. As for etcd itself, only the byte 1
// means enabled.
func (s *store) readAuth(key, value []byte) (err error) {
	a := &s.info.Auth
	switch string(key) {
	case "authEnabled":
		if len(value) != 1 || value[0] > 1 {
			return errors.New("neither enabled nor disabled")
		}
		a.Enabled = value[0] == 1
	case "authRevision":
		a.Revision, err = bigEndian(value)
	}
	return err
}

// readUser reads an entry of the bucket authUsers. Its value holds the hash of a
// password: nothing of it but the name goes into anything, not even an error.
func (s *store) readUser(key, value []byte) error {
	var u authpb.User
	if err := proto.Unmarshal(value, &u); err != nil {
		return errors.New("not a User message")
	}
	if string(u.Name) != string(key) {
		return errors.New("holds the user of another name")
	}
	s.info.Auth.Users = append(s.info.Auth.Users, string(key))
	return nil
}

// readRole reads an entry of the bucket authRoles.
func (s *store) readRole(key, value []byte) error {
	var r authpb.Role
	if err := proto.Unmarshal(value, &r); err != nil {
		return errors.New("not a Role message")
	}
	if string(r.Name) != string(key) {
		return fmt.Errorf("holds the role %q", r.Name)
	}
	s.info.Auth.Roles = append(s.info.Auth.Roles, string(key))
	return nil
}
