/** Runs after all tests: says which tests `npm test` does not run, and what they need. */
export function teardown(): void {
  process.stdout.write(
    'Not run: npm run test:browser (needs Chromium), npm run test:cluster (needs PostgreSQL, HAProxy, nginx, Swift and libfaketime), npm run test:faults (takes an hour), npm run test:client (needs the network).\n',
  )
}
