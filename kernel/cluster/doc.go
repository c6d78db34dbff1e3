// Package cluster groups points: k-means, and how well two groupings agree.
package cluster
