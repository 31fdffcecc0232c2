#!/usr/bin/env node
import { runContract } from './contract.ts'

process.exitCode = await runContract(process.argv.slice(2)).catch((error) => {
  process.stderr.write(`error: ${error.message}\n`)
  return 2
})
