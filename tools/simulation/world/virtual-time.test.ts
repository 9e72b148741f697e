import { afterEach, describe, expect, test } from 'vitest'
import { installVirtualTime, type VirtualTime } from './virtual-time.js'

let time: VirtualTime | undefined
afterEach(() => time?.uninstall())

describe('virtual time', () => {
  test('passes only when it is advanced, and wakes timers in order of time', async () => {
    time = installVirtualTime(1_000)
    const woken: string[] = []
    const sleeping = [
      time.sleep(30).then(() => woken.push(`b at ${Date.now()}`)),
      time.sleep(10).then(() => woken.push(`a at ${Date.now()}`)),
    ]
    expect(Date.now()).toBe(1_000)
    expect(await time.advance(20)).toBe(false)
    expect(woken).toEqual(['a at 1010'])
    expect(time.now()).toBe(1_020)
    await time.advance(10)
    await Promise.all(sleeping)
    expect(woken).toEqual(['a at 1010', 'b at 1030'])
  })

  test('runs the work of a wake before the next wake', async () => {
    time = installVirtualTime(0)
    const times: number[] = []
    setTimeout(() => {
      Promise.resolve()
        .then(() => new Promise((resolve) => setTimeout(resolve, 5)))
        .then(() => times.push(Date.now()))
        .catch(() => undefined)
    }, 10)
    setTimeout(() => times.push(Date.now()), 20)
    await time.advance(100)
    expect(times).toEqual([15, 20])
  })

  test('stops as soon as the condition is true', async () => {
    time = installVirtualTime(0)
    let count = 0
    const timer = setInterval(() => {
      count += 1
    }, 10)
    expect(await time.advance(1_000, () => count === 3)).toBe(true)
    expect(time.now()).toBe(30)
    clearInterval(timer)
    await time.advance(1_000)
    expect(count).toBe(3)
  })

  test('a sleep ends when its signal aborts, and a refreshed or cleared timer does not fire at its old time', async () => {
    time = installVirtualTime(0)
    const controller = new AbortController()
    let woken = false
    const sleeping = time.sleep(1_000, controller.signal).then(() => {
      woken = true
    })
    const fired: string[] = []
    const refreshed = setTimeout(() => fired.push(`refreshed at ${Date.now()}`), 10)
    clearTimeout(setTimeout(() => fired.push('cleared'), 10))
    await time.advance(5)
    refreshed.refresh()
    controller.abort()
    await time.advance(8)
    expect([woken, fired]).toEqual([true, []])
    await time.advance(2)
    expect(fired).toEqual(['refreshed at 15'])
    await sleeping
  })
})
