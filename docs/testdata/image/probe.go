// Command probe says who it is and where it can write: what the image's programs would find.
package main

import (
	"fmt"
	"os"
)

func main() {
	groups, err := os.Getgroups()
	fmt.Println("uid", os.Getuid(), "gid", os.Getgid(), "groups", groups, err)
	for _, dir := range append([]string{os.Getenv("HOME")}, os.Args[1:]...) {
		file, err := os.CreateTemp(dir, "probe")
		if err == nil {
			file.Close()
			os.Remove(file.Name())
		}
		fmt.Println("writing to", dir, err == nil)
	}
}
