// Package carry reads and answers the bundles by which a party without a network takes part by
// hand.
package carry
