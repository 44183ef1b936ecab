// Package auth says who a caller is. A call carries Basic or Bearer
// credentials, or comes over a connection whose client certificate names the
// caller; an [Authenticator] turns that into a [User], which travels in the
// context of the call.
//
// What a user may read is not decided here but in server/access.
package auth
