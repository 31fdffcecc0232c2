export type Route = { method: 'GET' | 'POST' | 'PATCH'; path: string }

/** Returns the described routes, and the others, which Fastify prints as a tree. */
export function routesIn(tree: string, paths: Readonly<Record<string, object>>): Route[] {
  const above: string[] = []
  const printed = tree.split('\n').map((line): [string, string[]] => {
    const [, indent = '', part = '', methods = ''] = /^([│ ]*)[├└]── (\S+) \(([^)]*)\)/.exec(line) ?? []
    above.splice(indent.length / 4, above.length, part)
    // A described route also refuses every other method.
    return [above.join('').replace(/\/{2,}/g, '/'), methods.includes('TRACE') ? [] : methods.split(', ')]
  })
  const described = Object.entries(paths).map(([path, operations]): [string, string[]] => [
    path,
    Object.keys(operations).map((method) => method.toUpperCase()),
  ])
  return [...described, ...printed].flatMap(([path, methods]) =>
    (['GET', 'POST', 'PATCH'] as const)
      .filter((method) => methods.includes(method))
      .map((method) => ({ method, path })),
  )
}
