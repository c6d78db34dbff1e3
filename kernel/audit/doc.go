// Package audit looks at a sketch from the side of whoever knows R: what it gives away
// without noise and the rule by which it is then refused (Exposure), whether a mechanism
// loses more than it claims (Judge), and what about a sound one is worth a remark
// (Design).
package audit
