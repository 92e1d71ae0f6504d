package keys

// Counted returns how many owners of rates are in memory.
func Counted(s *Service) int {
	s.rates.mu.Lock()
	defer s.rates.mu.Unlock()
	return len(s.rates.buckets)
}
