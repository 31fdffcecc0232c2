/** YAML value in which every scalar is text. Maps have no prototype. */
export type YamlValue = string | YamlValue[] | YamlMap
export type YamlMap = { [key: string]: YamlValue }
