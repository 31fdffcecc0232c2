// JavaScript, because this file runs before there is a cache: for a first file of types, Node loads its TypeScript parser, which
// takes 30 ms and 35 MB.
import module from 'node:module'
import { join } from 'node:path'

const { XDG_CACHE_HOME, LOCALAPPDATA, HOME } = process.env
const caches = XDG_CACHE_HOME || LOCALAPPDATA || (HOME && join(HOME, '.cache'))
// Not in the folder for temporary files, Node's own default: what another user puts there would be run.
if (caches) {
  const folder = join(caches, 'ganglion')
  module.enableCompileCache?.(folder)
  // Threads read the variable; the call is for this thread alone.
  process.env.NODE_COMPILE_CACHE ??= folder
}

// A reader that has left, as `head` does, ends no work and is no failure. Nor is a log whose disk is full.
for (const [stream, ...harmless] of /** @type {const} */ ([
  [process.stdout, 'EPIPE'],
  [process.stderr, 'EPIPE', 'ENOSPC', 'EDQUOT'],
])) {
  stream.on('error', (error) => {
    if (!('code' in error) || !harmless.some((code) => code === error.code)) throw error
  })
}

// Node 20 lacks the cache, types, and more: the pinned Node takes over.
if (module.enableCompileCache === undefined) await import(new URL('../bin/ganglion.js', import.meta.url).href)
else {
  const { runProgram } = await import('./cli/program.ts')
  process.exitCode = await runProgram(process.argv.slice(2))
}
