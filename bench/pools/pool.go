// The same training as pool.c, on goroutines. GOMAXPROCS is the number of threads.
//
//	pool SECONDS
package main

import (
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

const parts, rows, columns = 16, 64, 512

var x [parts][rows][columns]float32
var gradient [parts][columns]float32
var w [columns]float32
var loss [parts]float64

func learn(part int) {
	sum := &gradient[part]
	*sum = [columns]float32{}
	loss[part] = 0
	for i := range x[part] {
		row := &x[part][i]
		e := -row[0]
		for k, v := range row {
			e += v * w[k]
		}
		for k, v := range row {
			sum[k] += e * v
		}
		loss[part] += float64(e * e)
	}
}

func step() float64 {
	var all sync.WaitGroup
	all.Add(parts)
	for part := 0; part < parts; part++ {
		go func(part int) { learn(part); all.Done() }(part)
	}
	all.Wait()
	total := 0.0
	for part := range gradient {
		for k := range w {
			w[k] -= 1e-5 * gradient[part][k]
		}
		total += loss[part]
	}
	return total / (parts * rows)
}

func cpuTime() float64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

func main() {
	seconds, _ := strconv.ParseFloat(os.Args[1], 64)
	for part := range x {
		for i := range x[part] {
			for k := range x[part][i] {
				x[part][i][k] = rand.Float32()*2 - 1
			}
		}
	}
	began, used, steps, last := time.Now(), cpuTime(), 0, 0.0
	for ; time.Since(began).Seconds() < seconds; steps++ {
		last = step()
	}
	fmt.Printf("%.2f steps per CPU second, loss %.4f\n", float64(steps)/(cpuTime()-used), last)
}
