// Package cluster groups points: k-means, hierarchies, and how well two groupings agree.
package cluster
