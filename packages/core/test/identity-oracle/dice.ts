/** Random choices that a seed repeats. @module */
import { seededRandom } from '../support/seeded-random.js'

export interface Dice {
  /** A whole number from 0 to below `count`. */
  below(count: number): number
  chance(probability: number): boolean
  pick<T>(list: readonly T[]): T
  /** One of the keys, each as often as its weight says. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K
}

export function dice(seed: string): Dice {
  const random = seededRandom(seed)
  return {
    below: (count) => Math.floor(random.fraction() * count),
    chance: (probability) => random.fraction() < probability,
    pick(list) {
      const picked = list[Math.floor(random.fraction() * list.length)]
      if (picked === undefined) throw new RangeError('nothing to pick from')
      return picked
    },
    weighted<K extends string>(weights: Readonly<Record<K, number>>) {
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
