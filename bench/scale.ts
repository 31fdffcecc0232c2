import { seeded } from './support/seeded.ts'

/**
 * Computes what a deployment would need from measured figures: see docs/scale.md. Knowledge bases and their traffic follow Zipf's law. The
 * share of a node's traffic that finds its knowledge base on the disk follows Che's approximation of an LRU cache (H. Che, Y. Tung, Z.
 * Wang, "Hierarchical Web Caching Systems", 2002).
 */

/** Measured: docs/benchmarks.md and docs/scale.md say by which commands. */
const costs = {
  /** Seconds of CPU. */
  read: 85e-6,
  write: 2.5e-3,
  /** Cost of a Neuron with its candidate, when a knowledge base is first opened, and then searched. */
  openedNeuron: 0.31e-3,
  searchedNeuron: 0.5e-3,
  /** Bytes of a Neuron with its candidate: packs, and what is on a node's disk beside them. */
  packed: 2.0e3,
  indexed: 10.4e3,
  /** Requests to the bucket, and transactions, of a submission and its approval. */
  puts: 0.08,
  transactions: 3.5,
  /** Transactions of a read. */
  readStatements: 3,
}
/** Dollars: assumed, in the order of a public cloud. */
const prices = { node: 140, database: 700, gigabyte: 0.023, put: 5e-6, get: 0.4e-6, disk: 0.08 }
const month = 30 * 86_400
/** Bytes a second from the bucket. */
const bandwidth = 100e6

type Deployment = {
  knowledgeBases: number
  /** Neurons of the largest; the one of rank r has a rth of them, 100 at least. */
  largest: number
  nodes: number
  /** CPU cores and bytes of disk of each node. */
  cores: number
  disk: number
  /** A second, over all knowledge bases. */
  reads: number
  writes: number
}

type Estimate = {
  neurons: number
  packedBytes: number
  /** Share of requests whose knowledge base is on the node's disk. */
  hits: number
  coldOpenings: number
  /** Seconds until a knowledge base of the largest size is served by a node that did not have it. */
  longestOpening: number
  /** Shares of all nodes' cores. */
  cpu: { reads: number; writes: number; openings: number }
  transactions: number
  puts: number
  perMonth: number
}

/** @param isHashed whether the load balancer sends what is about one knowledge base to one node */
function estimate(deployment: Deployment, isHashed: boolean): Estimate {
  const { knowledgeBases, largest, nodes, cores, disk, reads, writes } = deployment
  const ranks = Array.from({ length: knowledgeBases }, (_, index) => index + 1)
  const sizes = ranks.map((rank) => Math.max(100, largest / rank))
  const harmonic = ranks.reduce((sum, rank) => sum + 1 / rank, 0)
  // Which of them are asked for most has nothing to do with their size.
  const random = seeded(1)
  const byChance = ranks.map((rank) => ({ rank, place: random() })).sort((a, b) => a.place - b.place)
  const popularity = byChance.map(({ rank }) => 1 / rank / harmonic)
  const neurons = sizes.reduce((sum, size) => sum + size, 0)
  const requests = reads + writes
  // Of one node: all knowledge bases at its share of the traffic, or its share of them at all of theirs.
  const [space, rate] = isHashed ? [disk * nodes, requests] : [disk, requests / nodes]
  const stored = sizes.map((size) => size * (costs.packed + costs.indexed))
  const age = characteristicTime(
    stored,
    popularity.map((share) => share * rate),
    space,
  )
  const missRates = popularity.map((share) => share * requests * Math.exp(-share * rate * age))
  const coldOpenings = missRates.reduce((sum, misses) => sum + misses, 0)
  const openingCpu = missRates.reduce(
    (sum, misses, index) => sum + misses * (sizes[index] ?? 0) * (costs.openedNeuron + costs.searchedNeuron),
    0,
  )
  const transactions = writes * costs.transactions + reads * costs.readStatements
  const puts = writes * costs.puts
  const packedBytes = neurons * costs.packed
  const allCores = nodes * cores
  return {
    neurons,
    packedBytes,
    hits: 1 - coldOpenings / requests,
    coldOpenings,
    longestOpening: largest * costs.openedNeuron + (largest * costs.packed) / bandwidth,
    cpu: {
      reads: (reads * costs.read) / allCores,
      writes: (writes * costs.write) / allCores,
      openings: openingCpu / allCores,
    },
    transactions,
    puts,
    perMonth:
      nodes * (prices.node + (disk / 1e9) * prices.disk) +
      prices.database +
      (packedBytes / 1e9) * prices.gigabyte +
      month * (puts * prices.put + coldOpenings * 10 * prices.get),
  }
}

/** The time after which what was not asked for is evicted. Infinity where all has room. */
function characteristicTime(sizes: readonly number[], rates: readonly number[], space: number): number {
  const used = (age: number) =>
    sizes.reduce((sum, size, index) => sum + size * -Math.expm1(-(rates[index] ?? 0) * age), 0)
  if (sizes.reduce((sum, size) => sum + size, 0) <= space) return Infinity
  let [low, high] = [0, 1e12]
  for (let step = 0; step < 100; step++) {
    const middle = (low + high) / 2
    if (used(middle) < space) low = middle
    else high = middle
  }
  return low
}

const small = { nodes: 3, cores: 4, disk: 100e9, knowledgeBases: 300, largest: 100_000, reads: 300, writes: 5 }
const large = {
  nodes: 50,
  cores: 8,
  disk: 200e9,
  knowledgeBases: 100_000,
  largest: 1_000_000,
  reads: 20_000,
  writes: 200,
}

/** Computed, not measured: a deployment of today's customers, and one of 10^5 knowledge bases with up to 10^6 Neurons on 50 nodes. */
export function benchScale(): string[] {
  const rows: [string, Deployment, boolean][] = [
    ['3 nodes, hashed', small, true],
    ['50 nodes, hashed', large, true],
    ['50 nodes, not hashed', large, false],
    ['50 nodes, hashed, 20 GB of disk', { ...large, disk: 20e9 }, true],
    ['50 nodes, hashed, ten times the writes', { ...large, writes: 10 * large.writes }, true],
  ]
  const share = (part: number) => `${(part * 100).toFixed(part < 0.1 ? 1 : 0)} %`
  const lines = rows.map(([name, deployment, isHashed]) => {
    const { neurons, packedBytes, hits, cpu, transactions, puts, perMonth, coldOpenings, longestOpening } = estimate(
      deployment,
      isHashed,
    )
    const used = [cpu.reads, cpu.writes, cpu.openings].map(share).join(' + ')
    const opened = `${coldOpenings.toFixed(2)}, ${longestOpening.toFixed(0)} s`
    const stored = `${(neurons / 1e6).toFixed(1)} M, ${(packedBytes / 1e9).toFixed(1)} GB`
    return `| ${name} | ${stored} | ${share(hits)} | ${opened} | ${used} | ${transactions.toFixed(0)} | ${puts.toFixed(0)} | ${Math.round(perMonth)} |`
  })
  return [
    '| | Neurons, packs | on the disk already | openings a second, the longest | CPU of all nodes: reads + writes + openings | transactions a second | puts a second | $ a month |',
    '|---|---|---|---|---|---|---|---|',
    ...lines,
  ]
}
