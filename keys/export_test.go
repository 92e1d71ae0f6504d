package keys

// Cached returns how many known and unknown keys are in memory.
func Cached(s *Service) (known, unknown int) {
	s.cache.mu.RLock()
	defer s.cache.mu.RUnlock()
	return len(s.cache.known.young) + len(s.cache.known.old), len(s.cache.unknown.young) + len(s.cache.unknown.old)
}

// Counted returns how many owners of rates are in memory.
func Counted(s *Service) int {
	s.rates.mu.Lock()
	defer s.rates.mu.Unlock()
	return len(s.rates.buckets)
}
