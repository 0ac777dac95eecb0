// Go at work until stdin ends: goroutines on all processors that it saw at its start.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

func round() (total int64) {
	var all sync.WaitGroup
	for g := 0; g < 8; g++ {
		all.Add(1)
		go func() {
			garbage := []int{}
			for i := 0; i < 100000; i++ {
				garbage = append(garbage, i%7)
			}
			atomic.AddInt64(&total, int64(len(garbage)))
			all.Done()
		}()
	}
	all.Wait()
	return total
}

func main() {
	processors, right := runtime.NumCPU(), round()
	var ended atomic.Bool
	go func() { os.Stdin.Read(make([]byte, 1)); ended.Store(true) }()
	fmt.Println("ready", processors)
	for !ended.Load() {
		if round() != right || runtime.NumCPU() != processors {
			os.Exit(3)
		}
	}
}
