/** Random choices that a seed repeats. @module */
import { seededRandom } from '../support/seeded-random.js'

export type Dice = ReturnType<typeof dice>

export function dice(seed: string) {
  const random = seededRandom(seed)
  return {
    /** A whole number from 0 to below `count`. */
    below: (count: number) => Math.floor(random.fraction() * count),
    chance: (probability: number) => random.fraction() < probability,
    pick<T>(list: readonly T[]): T {
      const picked = list[Math.floor(random.fraction() * list.length)]
      if (picked === undefined) throw new RangeError('nothing to pick from')
      return picked
    },
    /** One of the keys, each as often as its weight says. */
    weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
      const entries = Object.entries(weights) as [K, number][]
      let left = random.fraction() * entries.reduce((sum, [, weight]) => sum + weight, 0)
      for (const [key, weight] of entries) {
        left -= weight
        if (left < 0 && weight > 0) return key
      }
      throw new RangeError('no weight is above zero')
    },
  }
}
