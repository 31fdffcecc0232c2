import { monitorEventLoopDelay } from 'node:perf_hooks'
import { openContext } from '../../src/app/open-context.ts'

/** Opens the one knowledge base of a data directory and says how long it took until it was read, and whole, and what it cost. */
const begin = performance.now()
const [before, loopBefore] = [process.cpuUsage(), process.threadCpuUsage()]
const ctx = await openContext({ dataDir: process.argv[2] ?? '' })
const [identity] = await ctx.knowledgeBases.list()
if (identity === undefined) throw new Error('there is no knowledge base')
await ctx.kbs.openToRead(identity)
const readable = performance.now() - begin
const delays = monitorEventLoopDelay({ resolution: 1 })
delays.enable()
const kb = await ctx.kbs.open(identity)
delays.disable()
const milliseconds = performance.now() - begin
const inMs = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1000
const cpu = { all: inMs(process.cpuUsage(before)), loop: inMs(process.threadCpuUsage(loopBefore)) }
const rssMb = Math.round(process.memoryUsage().rss / 1024 / 1024)
const neurons = Number(kb.projection.read.get`SELECT count(*) AS count FROM neurons`?.count)
console.log(JSON.stringify({ readable, milliseconds, heldUp: delays.max / 1e6, cpu, rssMb, neurons }))
await ctx.close()
