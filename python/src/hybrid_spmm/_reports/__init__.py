"""What is told of a product: progress, reports and traces."""
